"""The command line: one tree of commands, to which the faces add theirs."""
