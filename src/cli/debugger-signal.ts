// Owns that SIGUSR1 opens no debugger: by default Node answers this signal with a port on which
// anybody on the machine may run code in the process, without the token.

/** @param tell is told that the signal came. To debug, start Node with --inspect. */
export const ignoreDebuggerSignal = (tell: () => void): void => void process.on('SIGUSR1', tell);
