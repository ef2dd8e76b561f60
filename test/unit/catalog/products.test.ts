import fc from 'fast-check';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseCsv } from '../../../server/fleet/catalog/csv.ts';
import { readProducts } from '../../../server/fleet/catalog/products.ts';
import { loadCatalog } from '../../../server/fleet/catalog/service.ts';

const cells = (text: string): string[][] => parseCsv(text, 'file').map((record) => record.cells);
const products = (...texts: string[]) => readProducts(...texts.map((text, index) => ({ name: `file${index + 1}.csv`, text })));

describe('comma-separated values', () => {
  test.each([
    [
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      '\uFEFFa,b\r\n1,\r\n',
      [
        ['a', 'b'],
        ['1', ''],
      ],
    ],
    ['"a,b","say ""hi"""\n', [['a,b', 'say "hi"']]],
    ['"two\nlines",x', [['two\nlines', 'x']]],
    ['a\n\n\nb', [['a'], ['b']]],
    ['', []],
  ])('%j', (text, expected) => {
    expect(cells(text)).toEqual(expected);
  });

  test('reads back what was written', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', ' ', 'ä') });
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 }), (table) => {
        const quoted = table.map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(',')).join('\n');
        expect(cells(quoted)).toEqual(table);
      }),
    );
  });
});

describe("an operator's file", () => {
  const shipped = 'model,name,archived,ram,price\nRB1,One,false,64 MB,$10\nRB2,Two,true,,\n';

  test('overrides the facts of its non-empty cells and keeps the others', () => {
    const [one, two] = products(shipped, 'model,price\nRB1,€ 9\n');
    expect(one).toMatchObject({ model: 'RB1', name: 'One', ram: '64 MB', price: '€ 9', archived: false });
    expect(two).toMatchObject({ model: 'RB2', archived: true, ram: null });
  });

  test('adds products', () => {
    expect(products(shipped, 'name,model,board_name\nThree,RB3,three\n').at(-1)).toMatchObject({
      model: 'RB3',
      name: 'Three',
      boardName: 'three',
      archived: false,
      slug: null,
    });
  });

  test.each([
    ['model,colour\nRB1,red\n', 'line 1, column colour: is not a known column'],
    ['model;name\nRB1;One\n', 'line 1, column model;name: is not a known column'],
    ['name\nOne\n', 'line 1, column model: is missing'],
    ['model,model\nRB1,RB1\n', 'line 1, column model: appears twice'],
    ['model,name\nRB1\n', 'line 2: has 1 cells, the first line names 2 columns'],
    ['model,name\nRB1,One\n,Two\n', 'line 3, column model: is empty'],
    ['model,archived\nRB1,no\n', 'line 2, column archived: is "no"; it must be true or false'],
    ['model,price\nRB9,$1\n', 'line 2, column name: is empty, and RB9 is a new product'],
    ['model,price\nRB1,$1\n\nRB1,$2\n', 'line 4, column model: RB1 is already on line 2'],
    ['model,name\nRB1,"One\n', 'line 2, column 2: the quoted cell has no closing quote'],
    ['model,name\nRB1,O"ne\n', 'line 2, column 2: unexpected quote'],
    ['', 'line 1: the file is empty'],
  ])('%j is refused: %s', (text, complaint) => {
    expect(() => products(shipped, text)).toThrow(`file2.csv: ${complaint}`);
  });
});

describe('the catalogue', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-catalog-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const hex = { model: 'RB750Gr3', boardName: 'hEX' };

  test('is shipped with the program, without pictures', async () => {
    const catalog = await loadCatalog();
    expect(catalog.describe(hex)).toMatchObject({ name: 'hEX', cpu: 'MT7621A', archived: false, banner: null, thumbnail: null });
  });

  test('finds pictures below the base address by the slug', async () => {
    const catalog = await loadCatalog({ imagesUrl: 'https://img.example/mikrotik/' });
    expect(catalog.describe(hex)).toMatchObject({
      banner: 'https://img.example/mikrotik/RB750Gr3/banner.png',
      thumbnail: 'https://img.example/mikrotik/RB750Gr3/thumbnail.png',
    });
    expect(catalog.describe({ model: null, boardName: 'unheard of' }).banner).toBeNull();
  });

  test("merges an operator's file", async () => {
    const file = path.join(folder, 'own.csv');
    await writeFile(file, 'model,price,banner\nRB750Gr3,"1.000,00 Kč",https://cdn.example/hex.webp\n');
    const catalog = await loadCatalog({ file, imagesUrl: 'https://img.example' });
    expect(catalog.describe(hex)).toMatchObject({ price: '1.000,00 Kč', cpu: 'MT7621A', banner: 'https://cdn.example/hex.webp' });
  });

  test('an error names a file that cannot be read', async () => {
    await expect(loadCatalog({ file: path.join(folder, 'none.csv') })).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('none.csv') as string,
    });
  });
});
