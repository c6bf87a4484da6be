@rem In POSIX shells `exec` is built in. On Windows, npm scripts find this file in its place and run the command as it is.
@%*
