/** Texts of scripts for `nft`. `table`: its family and name. Pure. */

/** A script that replaces a whole table in one step. */
export function replaceTable(table: string, lines: readonly string[]): string {
  return [`table ${table} {}`, `delete table ${table}`, `table ${table} {`, ...lines, '}', ''].join('\n')
}

/** A script that removes a table; a missing table is no error. */
export function removeTable(table: string): string {
  return `table ${table} {}\ndelete table ${table}\n`
}

/** Lines of one chain in the syntax of nftables. */
export function chain(name: string, rules: readonly string[]): string[] {
  return [`  chain ${name} {`, ...rules.map((rule) => `    ${rule}`), '  }']
}
