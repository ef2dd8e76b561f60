const VERBS: Record<string, string> = { get: 'get', post: 'create', put: 'replace', patch: 'change', delete: 'delete' };

/**
 * The operation id of a route without its own: `GET /api/sites` is listSites, `PATCH /api/sites/{site_id}`
 * changeSite, `POST /api/api-keys/{key_id}/rotate` rotateApiKey.
 * @param isList the response's data is an array
 */
export function operationIdOf(method: string, path: string, isList: boolean): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== 'api');
  const words = parts.filter((part) => !part.startsWith('{'));
  const noun = words.at(-1) ?? parts.at(-1)!.replaceAll(/[{}]/g, '');
  const endsWithId = parts.at(-1)!.startsWith('{');
  const isAction = method === 'post' && words.length > 1 && parts.at(-2)?.startsWith('{') === true && !isList;
  if (isAction && !noun.endsWith('s')) return camel([noun, singular(words.at(-2)!)]);
  const verb = method === 'get' && isList ? 'list' : VERBS[method]!;
  const isOne = endsWithId || method === 'post' || words.length === 0;
  return camel([verb, isOne ? singular(noun) : noun]);
}

function singular(word: string): string {
  return word.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');
}

function camel(words: string[]): string {
  const [first, ...rest] = words.flatMap((word) => word.split(/[^A-Za-z0-9]+/)).filter((word) => word !== '');
  return first! + rest.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}
