"""An example partner for `auto.book_ac_service`: the business, the desk and the MCP endpoint."""
