/** A page as a browser has it in the end. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** Keeps cookies by origin, follows redirects, and fills in the forms of the test provider. */
export interface TestBrowser {
  /** Goes there and signs in as this account wherever the provider asks. */
  open(url: string, account?: string): Promise<Page>;
  /** One request, of which nothing is followed. */
  ask(url: string, init?: RequestInit): Promise<Page>;
  /** The cookies for an origin, as the browser sends them. */
  cookies(url: string): string;
  plant(url: string, cookie: string): void;
}

const MOST_STEPS = 20;

export function testBrowser(): TestBrowser {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string) => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };
  const keep = (url: string, header: string) => {
    const [pair = '', ...attributes] = header.split('; ');
    const equals = pair.indexOf('=');
    const gone = attributes.some((each) => /^max-age=0$/i.test(each) || /^expires=thu, 01 jan 1970/i.test(each));
    if (gone) jarOf(url).delete(pair.slice(0, equals));
    else jarOf(url).set(pair.slice(0, equals), pair.slice(equals + 1));
  };
  const cookies = (url: string) => [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ');
  const ask = async (url: string, init: RequestInit = {}): Promise<Page> => {
    const headers = new Headers(init.headers);
    if (cookies(url) !== '') headers.set('cookie', cookies(url));
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const header of answer.headers.getSetCookie()) keep(url, header);
    return { url, status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  /** The next request that the page leads to; undefined when it is the last one. */
  const next = (page: Page, account: string): [string, RequestInit] | undefined => {
    const location = page.headers.get('location');
    if (location !== null) return [new URL(location, page.url).href, {}];
    const action = /<form[^>]* action="([^"]+)"/.exec(page.text)?.[1];
    const prompt = /name="prompt" value="(login|consent)"/.exec(page.text)?.[1];
    if (action === undefined || prompt === undefined) return undefined;
    const fields = prompt === 'login' ? { prompt, login: account, password: 'any' } : { prompt };
    return [new URL(action, page.url).href, { method: 'POST', body: new URLSearchParams(fields) }];
  };
  return {
    ask,
    cookies,
    plant: keep,
    async open(url, account = '') {
      let page = await ask(url);
      for (let step = 0; step < MOST_STEPS; step += 1) {
        const following = next(page, account);
        if (!following) return page;
        page = await ask(...following);
      }
      throw new Error(`${url} leads nowhere`);
    },
  };
}
