/** The facts of a product that are text (docs/interface.md, product). */
export const TEXT_COLUMNS = [
  'category',
  'slug',
  'name',
  'model',
  'short_description',
  'product_details',
  'architecture',
  'cpu',
  'cpu_core_count',
  'cpu_nominal_frequency',
  'switch_chip_model',
  'router_os_license',
  'operating_system',
  'ram',
  'storage_size',
  'storage_type',
  'mtbf',
  'tested_ambient_temperature',
  'price',
  'banner',
  'thumbnail',
] as const;

export type TextColumn = (typeof TEXT_COLUMNS)[number];

/** Columns of the file beyond the interface's. */
export const EXTRA_COLUMNS = ['board_name', 'product_code', 'released', 'discontinued'] as const;

/** A product's facts; null where unknown. */
export type ProductFacts = Record<TextColumn, string | null> & { archived: boolean | null };

/** One row of the catalogue. */
export type Product = ProductFacts & {
  name: string;
  /** The maker's product code. Not always what the router prints: matching.ts. */
  model: string;
  archived: boolean;
  /** `board-name` as `/system/resource` prints it, where known. */
  boardName: string | null;
};

/** Names that a router prints about itself. */
export interface RouterNames {
  model: string | null;
  boardName: string;
}
