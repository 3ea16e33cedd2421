"""The engine as components of other frameworks. Import the module you need."""
