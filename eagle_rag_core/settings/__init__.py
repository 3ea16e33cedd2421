"""Settings of a deployment: file, profiles, environment, flags."""

from eagle_rag_core.settings.loading import Settings, load_settings

__all__ = ["Settings", "load_settings"]
