/**
 * The page's one Trusted Types policy; the first import of `main.tsx`. Mantine writes its style sheets with `innerHTML`: a text without `<` is
 * only text to any parser. Workers come from this origin's built files.
 */
declare global {
  interface Window {
    trustedTypes?: {
      createPolicy(
        name: string,
        rules: { createHTML: (text: string) => string | null; createScriptURL: (url: string) => string | null },
      ): unknown;
    };
  }
}

function ownScript(url: string): string | null {
  const { origin, pathname } = new URL(url, location.href);
  return origin === location.origin && (pathname.startsWith('/assets/') || pathname === '/push-worker.js') ? url : null;
}

export const policy = window.trustedTypes?.createPolicy('default', {
  createHTML: (text) => (text.includes('<') ? null : text),
  createScriptURL: ownScript,
});
