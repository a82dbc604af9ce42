/** The parts of the catalog that an operator keeps. */
export const CATALOG_KINDS = ['GPU', 'CPU', 'DATA_CENTER', 'STORAGE'] as const

/** What an entry says, by its kind; its form is decided where it is written. */
export type CatalogEntry = Record<string, unknown>
