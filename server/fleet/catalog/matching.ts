import { TEXT_COLUMNS } from './types.ts';
import type { Product, ProductFacts, RouterNames } from './types.ts';

/** Normalises the spellings of one name: `RouterBOARD 962UiGS-5HacT2HnT`, `hAP ac²`, `hAP ac^2`, `951Ui-2HnD`. */
export function norm(text: string): string {
  return text
    .trim()
    .replace(/^RouterBOARD /, '')
    .replace(/[\s^]/g, '')
    .replace(/^RB/, '')
    .replaceAll('²', '2')
    .replaceAll('³', '3')
    .toLowerCase();
}

/** Modules that a kit's product code joins to the board's own with `&`. */
const MODEM = /^(?:(?:EC|EG|EP|RG|FG|BG)\d|R11e)/;
/** Case matters: the r3 of RB750Gr3 is a revision, the R8 of LR8 a radio. */
const REVISION = /r(\d+)$/;
/** Indoor, rack, outdoor and tower case. PC, EM and -XL are not among them: those are different devices. */
const PACKAGING = /(?:-(?:IN|RM|OUT|TC)|(?<=\+)(?:IN|RM|OUT))$/;

interface Code {
  base: string;
  revision: string | undefined;
}

function readCode(code: string): Code {
  // Spaces first: old firmware prints `750UP r2`.
  const parts = code
    .trim()
    .replace(/^RouterBOARD /, '')
    .replace(/\s/g, '')
    .split('&');
  let board = parts.find((part) => !MODEM.test(part)) ?? parts[0]!;
  let revision = REVISION.exec(board)?.[1];
  board = board.replace(REVISION, '').replace(PACKAGING, '');
  revision ??= REVISION.exec(board)?.[1];
  return { base: norm(board.replace(REVISION, '')), revision };
}

/** The part of a product code that a router can report: the board without modem, revision and packaging. */
export function base(code: string): string {
  return readCode(code).base;
}

/** RB750G is not RB750Gr3: a product code with a revision matches only that revision. */
function isRevisionOf(product: Product, code: Code): boolean {
  const { revision } = readCode(product.model);
  return revision === undefined || revision === code.revision;
}

function isNamed(product: Product, boardName: string): boolean {
  return norm(product.name) === boardName || (product.boardName !== null && norm(product.boardName) === boardName);
}

/**
 * The products that match the names a router prints. Several when they differ only in packaging or modem, which
 * the router does not print; none when the product is not in the catalogue.
 */
export function findCandidates(products: readonly Product[], router: RouterNames): Product[] {
  if (router.boardName.startsWith('CHR')) return withModel(products, 'CHR');
  if (router.boardName.startsWith('x86') && router.model === null) return withModel(products, 'x86');
  return (
    (router.model === null ? undefined : findByModel(products, router.model, norm(router.boardName))) ??
    findByBoardName(products, router.boardName)
  );
}

function withModel(products: readonly Product[], model: string): Product[] {
  return products.filter((product) => product.model === model);
}

/** Undefined when the catalogue has no such board; empty when it has another revision only. */
function findByModel(products: readonly Product[], model: string, boardName: string): Product[] | undefined {
  const code = readCode(model);
  const related = products.filter((product) => base(product.model) === code.base);
  if (code.base === '' || related.length === 0) return undefined;
  const group = related.filter((product) => isRevisionOf(product, code));
  return firstHit(
    group.filter((product) => isNamed(product, boardName)),
    group.filter((product) => norm(product.model) === norm(model)),
    group,
  );
}

function findByBoardName(products: readonly Product[], boardName: string): Product[] {
  const name = norm(boardName);
  const code = readCode(boardName);
  if (name === '') return [];
  const hits = firstHit(
    products.filter((product) => isNamed(product, name)),
    products.filter((product) => norm(product.model) === name),
    products.filter((product) => base(product.model) === code.base && isRevisionOf(product, code)),
  );
  return firstHit(
    hits.filter((product) => !product.archived),
    hits,
  );
}

function firstHit(...groups: Product[][]): Product[] {
  return groups.find((group) => group.length > 0) ?? [];
}

/** The facts on which all candidates agree; null for every other, and for all of them when there is no candidate. */
export function agreedFacts(candidates: readonly Product[]): ProductFacts {
  const agreed = <K extends keyof ProductFacts>(column: K): ProductFacts[K] | null => {
    const value = candidates[0]?.[column] ?? null;
    return candidates.every((product) => product[column] === value) ? value : null;
  };
  const texts = TEXT_COLUMNS.map((column) => [column, agreed(column)]);
  return { ...(Object.fromEntries(texts) as Omit<ProductFacts, 'archived'>), archived: agreed('archived') };
}
