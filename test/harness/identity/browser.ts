/** A page as a browser without scripts has it. */
export interface Page {
  status: number;
  headers: Headers;
  html: string;
  url: string;
}

/** Enough for every sign-in; more is a loop. */
const MAX_REDIRECTS = 10;

/**
 * What people sign in with, without the looks: keeps cookies by path, follows redirects, submits forms. It stops before
 * an address that is not the server's and gives that address as the page's.
 */
export class FormBrowser {
  readonly #origin: string;
  readonly #cookies: Map<string, { value: string; path: string }>;

  constructor(baseUrl: string, cookies: Iterable<[string, { value: string; path: string }]> = []) {
    this.#origin = new URL(baseUrl).origin;
    this.#cookies = new Map(cookies);
  }

  /** One with the same cookies, as whoever steals them has it. */
  copy(): FormBrowser {
    return new FormBrowser(this.#origin, this.#cookies);
  }

  get cookieNames(): string[] {
    return [...this.#cookies.keys()].map((key) => key.split(' ')[0]!);
  }

  async open(url: string): Promise<Page> {
    return this.#follow(url, {});
  }

  /** Submits the page's form whose action ends so, with its hidden fields and these. */
  async submit(page: Page, actionEnd: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Page> {
    const form = formsOf(page).find(({ action }) => action.endsWith(actionEnd));
    if (!form) throw new Error(`no form ${actionEnd} in ${page.html}`);
    const body = new URLSearchParams({ ...form.hidden, ...fields });
    return this.#follow(new URL(form.action, page.url).href, { method: 'POST', body, headers });
  }

  async #follow(first: string, init: RequestInit): Promise<Page> {
    let url = first;
    let request = init;
    for (let hop = 0; hop < MAX_REDIRECTS; hop += 1) {
      const { origin, pathname } = new URL(url);
      if (origin !== this.#origin || /^\/(callback|silent-callback|signed-out)?$/.test(pathname))
        return { status: 0, headers: new Headers(), html: '', url };
      const answer = await fetch(url, {
        ...request,
        redirect: 'manual',
        headers: { ...(request.headers as Record<string, string>), accept: 'text/html', cookie: this.cookieHeader(pathname) },
      });
      this.#keep(answer.headers.getSetCookie(), pathname);
      const location = answer.headers.get('location');
      if (location === null) return { status: answer.status, headers: answer.headers, html: await answer.text(), url };
      await answer.body?.cancel();
      url = new URL(location, url).href;
      request = {};
    }
    throw new Error(`too many redirects, last to ${url}`);
  }

  /** What it would send to this path. */
  cookieHeader(pathname: string): string {
    return [...this.#cookies]
      .filter(([, { path }]) => pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`))
      .map(([key, { value }]) => `${key.split(' ')[0]}=${value}`)
      .join('; ');
  }

  #keep(setCookies: string[], pathname: string): void {
    for (const line of setCookies) {
      const [pair = '', ...attributes] = line.split('; ');
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      const attribute = (wanted: string) => attributes.find((it) => it.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
      const path = attribute('path') ?? pathname;
      const expires = attribute('expires');
      if (expires !== undefined && Date.parse(expires) < Date.now()) this.#cookies.delete(`${name} ${path}`);
      else this.#cookies.set(`${name} ${path}`, { value, path });
    }
  }
}

function formsOf({ html }: Page): { action: string; hidden: Record<string, string> }[] {
  return [...html.matchAll(/<form[^>]* action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(([, action = '', content = '']) => ({
    action: unescape(action),
    hidden: Object.fromEntries(
      [...content.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
        name,
        unescape(value),
      ]),
    ),
  }));
}

function unescape(text: string): string {
  return text.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
