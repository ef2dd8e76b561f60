import fc from 'fast-check';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { agreedFacts, base, findCandidates, norm } from '../../../server/fleet/catalog/matching.ts';
import { readProducts } from '../../../server/fleet/catalog/products.ts';
import type { Product } from '../../../server/fleet/catalog/types.ts';

const text = await readFile(new URL('../../../server/fleet/catalog/mikrotik-products.csv', import.meta.url), 'utf8');
const catalogue = readProducts({ name: 'shipped', text });
/** The catalogue as if no board name had ever been seen. */
const blanked: Product[] = catalogue.map((product) => ({ ...product, boardName: null }));

const models = (products: readonly Product[], model: string | null, boardName: string): string[] =>
  findCandidates(products, { model, boardName }).map((product) => product.model);

describe('spellings of one name are equal', () => {
  test.each([
    ['RouterBOARD 962UiGS-5HacT2HnT', 'RB962UiGS-5HacT2HnT'],
    ['951Ui-2HnD', 'RB951Ui-2HnD'],
    ['hAP ac^2', 'hAP ac²'],
    ['hAP ax^3', 'hAP ax³'],
    ['RouterBOARD 750UP r2', 'RB750UPr2'],
    ['RB4011iGS+', '4011iGS+'],
  ])('%s is %s', (one, other) => {
    expect(norm(one)).toBe(norm(other));
  });
});

describe('the base of a product code is what the router can know of it', () => {
  test.each([
    ['RB750Gr3', '750g'],
    ['RBD52G-5HacD2HnD-TC', 'd52g-5hacd2hnd'],
    ['CRS326-24G-2S+RM', 'crs326-24g-2s+'],
    ['CRS305-1G-4S+OUT', 'crs305-1g-4s+'],
    ['RB2011iL-IN', '2011il'],
    ['D53G-5HacD2HnD-TC&EG120K-EA', 'd53g-5hacd2hnd'],
    ['EC25-EU&KNe', 'kne'],
    ['RBLtAP-2HnD&R11e-LTE&LR8', 'ltap-2hnd'],
    ['L14G-2ax-BT5-LR8&EG800K', 'l14g-2ax-bt5-lr8'],
    // Passive cooling, extended memory and the bigger antenna are devices of their own.
    ['CCR1009-7G-1C-PC', 'ccr1009-7g-1c-pc'],
    ['CCR1036-8G-2S+EM', 'ccr1036-8g-2s+em'],
    ['LHG-5axD-XL', 'lhg-5axd-xl'],
  ])('%s -> %s', (code, expected) => {
    expect(base(code)).toBe(expected);
  });
});

/** model, board name as routers print them, and the product's code. */
const oneProduct: [string | null, string, string][] = [
  ['RBD52G-5HacD2HnD', 'hAP ac^2', 'RBD52G-5HacD2HnD-TC'],
  ['C52iG-5HaxD2HaxD', 'hAP ax^2', 'C52iG-5HaxD2HaxD-TC'],
  ['C53UiG+5HPaxD2HPaxD', 'hAP ax^3', 'C53UiG+5HPaxD2HPaxD'],
  ['L41G-2axD&FG621-EA', 'hAP ax lite LTE6', 'L41G-2axD&FG621-EA'],
  ['L41G-2axD', 'hAP ax lite', 'L41G-2axD'],
  ['RouterBOARD 962UiGS-5HacT2HnT', 'hAP ac', 'RB962UiGS-5HacT2HnT'],
  ['RB962UiGS-5HacT2HnT', 'hAP ac', 'RB962UiGS-5HacT2HnT'],
  ['RouterBOARD 952Ui-5ac2nD', 'hAP ac lite', 'RB952Ui-5ac2nD'],
  ['RB952Ui-5ac2nD', 'hAP ac lite TC', 'RB952Ui-5ac2nD-TC'],
  ['RBD53iG-5HacD2HnD', 'hAP ac^3', 'RBD53iG-5HacD2HnD'],
  ['RB4011iGS+', 'RB4011iGS+', 'RB4011iGS+RM'],
  ['RB4011iGS+5HacQ2HnD', 'RB4011iGS+5HacQ2HnD', 'RB4011iGS+5HacQ2HnD-IN'],
  ['CRS317-1G-16S+', 'CRS317-1G-16S+', 'CRS317-1G-16S+RM'],
  ['CRS305-1G-4S+', 'CRS305-1G-4S+', 'CRS305-1G-4S+IN'],
  ['CCR1036-8G-2S+', 'CCR1036-8G-2S+', 'CCR1036-8G-2S+'],
  ['CCR1009-7G-1C-1S+', 'CCR1009-7G-1C-1S+', 'CCR1009-7G-1C-1S+'],
  ['CCR1009-7G-1C-1S+PC', 'CCR1009-7G-1C-1S+PC', 'CCR1009-7G-1C-1S+PC'],
  ['CCR2004-1G-12S+2XS', 'CCR2004-1G-12S+2XS', 'CCR2004-1G-12S+2XS'],
  ['CCR2116-12G-4S+', 'CCR2116-12G-4S+', 'CCR2116-12G-4S+'],
  ['RB750Gr3', 'hEX', 'RB750Gr3'],
  ['RouterBOARD 750G r3', 'hEX', 'RB750Gr3'],
  ['RouterBOARD 750UP r2', 'hEX PoE lite', 'RB750UPr2'],
  ['RB760iGS', 'hEX S', 'RB760iGS'],
  ['E50UG', 'hEX', 'E50UG'],
  ['RBwAPR-2nD', 'wAP R', 'RBwAPR-2nD'],
  ['RBwAPGR-5HacD2HnD', 'wAP R ac', 'RBwAPGR-5HacD2HnD'],
  ['RB5009UG+S+', 'RB5009UG+S+', 'RB5009UG+S+IN'],
  ['RB5009UPr+S+', 'RB5009UPr+S+', 'RB5009UPr+S+IN'],
  ['CRS310-8G+2S+', 'CRS310-8G+2S+', 'CRS310-8G+2S+IN'],
  ['RB2011UiAS-2HnD', 'RB2011UiAS-2HnD', 'RB2011UiAS-2HnD-IN'],
  ['RB3011UiAS', 'RB3011UiAS', 'RB3011UiAS-RM'],
  ['951Ui-2HnD', 'RB951Ui-2HnD', 'RB951Ui-2HnD'],
  // Found by its board name whatever it prints as model.
  [null, 'RB1100AHx4', 'RB1100x4'],
  ['RB1100AHx4', 'RB1100AHx4', 'RB1100x4'],
  [null, 'RB1100AHx4 Dude Edition', 'RB1100Dx4'],
  ['RBwAPGR-5HacD2HnD', 'wAP ac 4G kit', 'RBwAPGR-5HacD2HnD&R11e-4G'],
  [null, 'CHR', 'CHR'],
  [null, 'CHR VMware', 'CHR'],
  [null, 'x86', 'x86'],
  [null, 'x86 innotek GmbH VirtualBox', 'x86'],
];

describe('a router that prints its product is found', () => {
  test.each(oneProduct)('%s, %s -> %s', (model, boardName, product) => {
    expect(models(catalogue, model, boardName)).toEqual([product]);
  });

  // Without evidence of what a board prints, the code alone has to do.
  test.each(oneProduct)('%s, %s is found without board names too', (model, boardName, product) => {
    expect(models(blanked, model, boardName)).toContain(product);
  });
});

describe('packaging and modems that a router cannot see leave several products', () => {
  test.each([
    ['CRS326-24G-2S+', 'CRS326-24G-2S+', ['CRS326-24G-2S+IN', 'CRS326-24G-2S+RM']],
    ['RB2011iL', 'RB2011iL', ['RB2011iL-IN', 'RB2011iL-RM']],
  ])('%s', (model, boardName, products) => {
    expect(models(catalogue, model, boardName)).toEqual(products);
  });

  test('a CRS305 without a board name also matches the FiberBox Plus', () => {
    expect(models(blanked, 'CRS305-1G-4S+', 'CRS305-1G-4S+')).toEqual(['CRS305-1G-4S+IN', 'CRS305-1G-4S+OUT']);
  });

  test('only the facts on which they agree are returned', () => {
    const facts = agreedFacts(findCandidates(catalogue, { model: 'CRS326-24G-2S+', boardName: 'CRS326-24G-2S+' }));
    expect(facts).toMatchObject({
      architecture: 'ARM 32bit',
      archived: false,
      cpu_core_count: '2',
      name: null,
      model: null,
      slug: null,
      price: null,
    });
  });
});

describe('what is not in the catalogue is not guessed', () => {
  test.each([
    ['RB951G-2HnD', 'RB951G-2HnD'],
    ['RB493G', 'RB493G'],
    ['RB2011UAS', 'RB2011UAS'],
    [null, 'arm64 QEMU QEMU Virtual Machine'],
    [null, ''],
    ['', ''],
    // Earlier revisions of the hEX are other devices, though one of them has the same name.
    ['RB750G', 'RB750G'],
    ['RouterBOARD 750G r2', 'hEX'],
    ['750', 'RB750'],
    [null, 'RB750'],
  ])('%s, %s', (model, boardName) => {
    expect(models(catalogue, model, boardName)).toEqual([]);
  });

  test('all of its facts are null', () => {
    expect(new Set(Object.values(agreedFacts([])))).toEqual(new Set([null]));
    expect(Object.keys(agreedFacts([]))).toHaveLength(22);
  });
});

test('every product is found by its own code, and returned facts hold for every candidate', () => {
  fc.assert(
    fc.property(fc.constantFrom(...catalogue), fc.boolean(), (product, byModel) => {
      const printed = byModel ? { model: product.model, boardName: '' } : { model: null, boardName: product.model };
      const found = findCandidates(catalogue, printed);
      const facts = agreedFacts(found);
      for (const candidate of found) {
        for (const [column, value] of Object.entries(facts)) {
          if (value !== null) expect(candidate[column as keyof Product]).toBe(value);
        }
      }
      const foundModels = found.map(({ model }) => model);
      // x86 as a model would be a board that calls itself so.
      expect(foundModels.includes(product.model) || product.model === 'x86').toBe(true);
    }),
  );
});
