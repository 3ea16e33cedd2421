"""The MCP clients that people use: where they keep their servers, and how they write one down."""
