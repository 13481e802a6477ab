/** Returns the first lines of a list, and a line that counts the others. */
export function firstLines(lines: readonly string[], most = 20): string[] {
  const others = lines.length - most;
  return others > 0 ? [...lines.slice(0, most), `… and ${others} more`] : [...lines];
}
