import { stripTypeScriptTypes } from 'node:module';
import { parseAst } from 'vite';

export interface CompiledModule {
  code: string;
  /** Names of the packages it imports: `zod` for `zod/v4/core`. */
  packages: string[];
}

interface Node {
  type: string;
  [field: string]: unknown;
}

/** A text in the source that names a module or a file. */
interface Address {
  value: string;
  /** Position behind its closing quote. */
  end: number;
  isFile: boolean;
}

/**
 * Turns a module into JavaScript with the same lines and columns: types become blanks, and the addresses of other modules end in `.js`.
 * A stack trace of the package points to the line of the source, so it needs no source map.
 * @throws SyntaxError for TypeScript that is more than types
 */
export function compileModule(source: string): CompiledModule {
  let code = stripTypeScriptTypes(source, { mode: 'strip' });
  const packages = new Set<string>();
  for (const { value, end, isFile } of addressesIn(parseAst(code))) {
    if (value.endsWith('.ts')) code = withJs(code, end - 1);
    else if (!isFile && !value.startsWith('.') && !value.startsWith('node:')) packages.add(packageOf(value));
  }
  return { code, packages: [...packages] };
}

/** Replaces `.ts` before `end`. The length stays the same, and so do all positions. */
function withJs(code: string, end: number): string {
  if (code.slice(end - 3, end) !== '.ts') throw new Error(`no address ends at ${end}`);
  return `${code.slice(0, end - 3)}.js${code.slice(end)}`;
}

function addressesIn(node: unknown): Address[] {
  if (Array.isArray(node)) return node.flatMap(addressesIn);
  if (!isNode(node)) return [];
  const own = addressOf(node);
  return [...(own ? [own] : []), ...Object.values(node).flatMap(addressesIn)];
}

function addressOf(node: Node): Address | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
      return asAddress(node['source'], false);
    case 'NewExpression':
      // new URL('worker.ts', import.meta.url)
      return isNamed(node['callee'], 'URL') ? asAddress((node['arguments'] as unknown[])[0], true) : undefined;
    case 'CallExpression':
      return isResolve(node['callee']) ? asAddress((node['arguments'] as unknown[])[0], false) : undefined;
    default:
      return undefined;
  }
}

function asAddress(node: unknown, isFile: boolean): Address | undefined {
  if (!isNode(node) || node.type !== 'Literal' || typeof node['value'] !== 'string') return undefined;
  return { value: node['value'], end: node['end'] as number, isFile };
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
const isNamed = (value: unknown, name: string): boolean => isNode(value) && value['name'] === name;
/** import.meta.resolve(…) */
const isResolve = (value: unknown): boolean =>
  isNode(value) && isNode(value['object']) && value['object'].type === 'MetaProperty' && isNamed(value['property'], 'resolve');

function packageOf(address: string): string {
  return address
    .split('/')
    .slice(0, address.startsWith('@') ? 2 : 1)
    .join('/');
}
