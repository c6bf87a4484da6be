@rem In POSIX shells `exec` is built in. On Windows, npm scripts find this file instead, which runs the command unchanged.
@%*
