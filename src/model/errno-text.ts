// Owns the system's error codes in words. A code such as ENOENT says nothing to most readers; the
// sentence does, and the code stands behind it for those who search for it.

const SENTENCES: Readonly<Record<string, string>> = {
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EROFS: 'the file system is read-only',
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of the path is a file',
  EISDIR: 'it is a directory',
  EEXIST: 'it exists already',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links form a circle',
  ENOSPC: 'the disk is full',
  EDQUOT: "this user's share of the disk is used up",
  EFBIG: 'the file is too large',
  EMFILE: 'this process may open no more files (raise the limit of `ulimit -n`)',
  ENFILE: 'the machine has no file descriptors left',
  ENOMEM: 'no memory is left',
  EIO: 'the device fails',
  EBUSY: 'it is in use',
  EADDRINUSE: 'the address is in use',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EAFNOSUPPORT: 'this machine has no addresses of that kind',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the other side closed the connection',
  EPIPE: 'the other side closed the connection',
  ETIMEDOUT: 'there is no answer',
  EHOSTUNREACH: 'the machine cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'no machine of that name is known',
  EAI_AGAIN: 'the name service does not answer',
  ERR_STRING_TOO_LONG: 'it is longer than this program can hold as one text',
  ERR_FS_FILE_TOO_LARGE: 'the file is too large',
};

/** @returns `it does not exist (ENOENT)`, or the message of an error that has no such code. */
export function errnoText(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const sentence = typeof code === 'string' ? SENTENCES[code] : undefined;
  return sentence === undefined ? String(message) : `${sentence} (${code})`;
}
