const SYSTEM_FILE = /(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini|\._[^/]*)$/;

/**
 * Returns whether a path has the name of a file that an operating system adds to folders and zips: macOS puts one
 * `._<name>` for each file under `__MACOSX/` into a zip.
 */
export function isSystemFile(path: string): boolean {
  return SYSTEM_FILE.test(path);
}
