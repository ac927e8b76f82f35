"""The long-running surfaces: HTTP, web pages and MCP over one runtime, and the client."""
