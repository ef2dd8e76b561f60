/** What the addresses of lists with a text to look for hold. */
export interface TextSearch {
  q?: string;
}

export function readTextSearch({ q }: Record<string, unknown>): TextSearch {
  return typeof q === 'string' && q !== '' ? { q } : {};
}
