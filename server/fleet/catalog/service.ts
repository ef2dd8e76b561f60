import { readFile } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../platform/core/errors.ts';
import { agreedFacts, findCandidates } from './matching.ts';
import { readProducts } from './products.ts';
import type { Product, ProductFacts, RouterNames } from './types.ts';

/** The catalogue shipped with the program; see README.md in this folder. */
const SHIPPED = new URL('mikrotik-products.csv', import.meta.url);

/** Names of routers whose facts are remembered: MikroTik makes some 600 products, and agents may say anything. About 1 kB each. */
const REMEMBERED = 1000;

export interface CatalogOptions {
  /** An operator's CSV file that adds products or overrides facts. */
  file?: string | undefined;
  /** Base URL of pictures on the operator's own server: `<base>/<slug>/banner.png` and `…/thumbnail.png`. */
  imagesUrl?: string | undefined;
}

/** The maker's facts about a router, found by the names that the router prints. Read once and kept in memory. */
export class CatalogService {
  readonly #products: readonly Product[];
  readonly #imagesUrl: string | undefined;
  /** A search goes through all products, and a fleet has few models. */
  readonly #described = new LRUCache<string, ProductFacts>({ max: REMEMBERED });

  constructor(products: readonly Product[], imagesUrl?: string) {
    this.#products = products;
    this.#imagesUrl = imagesUrl?.replace(/\/+$/, '');
  }

  /** The facts on which all matching products agree; null for the others. */
  describe(router: RouterNames): ProductFacts {
    const key = JSON.stringify([router.model, router.boardName]);
    const known = this.#described.get(key);
    if (known) return known;
    const facts = this.#find(router);
    this.#described.set(key, facts);
    return facts;
  }

  #find(router: RouterNames): ProductFacts {
    const facts = agreedFacts(findCandidates(this.#products, router));
    return {
      ...facts,
      banner: facts.banner ?? this.#image(facts.slug, 'banner'),
      thumbnail: facts.thumbnail ?? this.#image(facts.slug, 'thumbnail'),
    };
  }

  #image(slug: string | null, kind: 'banner' | 'thumbnail'): string | null {
    if (this.#imagesUrl === undefined || slug === null) return null;
    return `${this.#imagesUrl}/${encodeURIComponent(slug)}/${kind}.png`;
  }
}

/** @throws AppError `invalid` naming the operator's file with the line and column of its first mistake */
export async function loadCatalog(options: CatalogOptions = {}): Promise<CatalogService> {
  const shipped = { name: 'mikrotik-products.csv', text: await readFile(SHIPPED, 'utf8') };
  const own = options.file === undefined ? [] : [{ name: options.file, text: await readOwn(options.file) }];
  return new CatalogService(readProducts(shipped, ...own), options.imagesUrl);
}

async function readOwn(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new AppError('invalid', `${file}: the catalogue file cannot be read`, { cause: error });
  }
}
