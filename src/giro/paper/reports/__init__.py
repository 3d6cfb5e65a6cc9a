"""What `giro theory` finds: one file a command, numbers first, nothing printed."""
