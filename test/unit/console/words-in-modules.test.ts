import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAst } from 'vite';
import { expect, test } from 'vitest';

/** Words of the web application stand in one module for each page: whoever translates them touches no component. */

const CONSOLE = path.resolve(import.meta.dirname, '../../../console/src');
/** Attributes that nobody reads. */
const NOT_READ_ATTRIBUTES = new Set(
  (
    'className id key href to type name style role rel target htmlFor pattern inputMode autoComplete enterKeyHint ' +
    'd viewBox transform fill stroke strokeLinecap points'
  ).split(' '),
);
/** Attributes that are read, however short they are. */
const READ_ATTRIBUTES = new Set(['aria-label', 'title', 'label', 'hint', 'placeholder', 'alt']);
/** Texts in components that are not for people, or are the same in every language. */
const NOT_WORDS = new Set([
  'ArrowDown',
  'ArrowUp',
  'Arrow',
  'Tab',
  'Enter',
  'Escape',
  'own terminal',
  'this browser',
  'failed login',
  'state:not_answering state:agent_away',
  'SIGNALBOX_TLS_CERT_FILE',
  'http://localhost',
  'signalbox-agent check',
  'en',
  'string',
  'Bearer {}',
  '{} 12px InterVariable, system-ui, sans-serif',
]);
const classes = new Set(
  globSync(`${CONSOLE}/**/*.css`).flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\.([a-z][\w-]*)/g)].map(([, name]) => name!)),
);

interface Node {
  type: string;
  start: number;
  [field: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

/** Texts of a component that look as if somebody read them. */
function readTexts(source: string): string[] {
  const found: string[] = [];
  const look = (value: unknown, attribute?: string): void => {
    if (Array.isArray(value)) for (const one of value) look(one, attribute);
    if (!isNode(value) || value.type === 'ImportDeclaration' || /^TS(?!As|NonNull|Satisfies)/.test(value.type)) return;
    if (value.type === 'JSXAttribute') {
      const name = String((value['name'] as Node)['name']);
      if (!NOT_READ_ATTRIBUTES.has(name) && !/^(?:data|aria)-(?!label$)/.test(name)) look(value['value'], name);
      return;
    }
    const text = textOf(value);
    if (text !== undefined && isRead(text, value.type === 'JSXText' || READ_ATTRIBUTES.has(attribute ?? ''))) found.push(text);
    for (const field of Object.values(value)) look(field, attribute);
  };
  look(parseAst(source, { lang: 'tsx' }).body);
  return found;
}

function textOf(node: Node): string | undefined {
  if (node.type === 'JSXText') return (node['value'] as string).trim();
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  if (node.type !== 'TemplateLiteral') return undefined;
  return (node['quasis'] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('{}');
}

/** @param isShown whether everything there is shown, a single word too */
function isRead(text: string, isShown: boolean): boolean {
  if (!/[A-Za-z]{2}/.test(text) || NOT_WORDS.has(text) || text.split(' ').every((word) => classes.has(word))) return false;
  return isShown || /[A-Za-z]{2,} [A-Za-z{]|\} [A-Za-z]{2,}|^[A-Z][a-z]+|[a-z]{2}[.:…?!]$/.test(text);
}

test('finds what people read, and nothing else', () => {
  expect(readTexts(`export const A = () => <p title="Why">Two words {one ? 'Not now' : \`\${n} more\`}</p>;`)).toEqual([
    'Why',
    'Two words',
    'Not now',
    '{} more',
  ]);
  expect(
    readTexts(`import { a } from 'some words'; export const A = () => <p className="some class" data-x="Some">{words.title}</p>;`),
  ).toEqual([]);
});

test.each(globSync(`${CONSOLE}/**/*.tsx`).map((file) => path.relative(CONSOLE, file)))('%s has its words in a module', (file) => {
  expect(readTexts(readFileSync(path.join(CONSOLE, file), 'utf8'))).toEqual([]);
});
