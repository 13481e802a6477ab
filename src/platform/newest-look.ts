/**
 * Returns a function that looks and hands over what it saw, unless a look that began later has done so before. A caller
 * that changes something looks afterwards: a slow look from before the change then takes nothing back.
 */
export function newestLook<Seen>(look: () => Promise<Seen>, saw: (seen: Seen) => void): () => Promise<void> {
  let begun = 0;
  let newest = 0;
  return async () => {
    begun += 1;
    const own = begun;
    const seen = await look();
    if (own < newest) return;
    newest = own;
    saw(seen);
  };
}
