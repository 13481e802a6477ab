import { useEffect, useState } from 'preact/hooks';

/** The page's own address: what it shows, as the reader may save or send it. */
export function usePlace() {
  const [search, setSearch] = useState(location.search);
  useEffect(() => {
    const moved = () => setSearch(location.search);
    addEventListener('popstate', moved);
    return () => removeEventListener('popstate', moved);
  }, []);
  return {
    parameters: new URLSearchParams(search),
    search,
    /** Shows another place. `isNew` makes an entry in the history, so that the browser's button leads back. */
    go(query: string, isNew: boolean) {
      const address = query === '' ? location.pathname : `${location.pathname}?${query}`;
      if (isNew) history.pushState(null, '', address);
      else history.replaceState(null, '', address);
      setSearch(location.search);
    },
  };
}
