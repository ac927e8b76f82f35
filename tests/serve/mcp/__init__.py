"""The MCP server over real transports, its Skills extension, and the host side of that."""
