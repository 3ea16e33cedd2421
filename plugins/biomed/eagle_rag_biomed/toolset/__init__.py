"""The pack's MCP tools, a file each."""
