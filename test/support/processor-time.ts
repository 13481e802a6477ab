/** Milliseconds for which this process has had a processor: a busy machine makes work take longer, but hardly more of them. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
