"""The core's own MCP tools: parameters, results, and one function per tool."""
