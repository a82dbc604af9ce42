/** A statement that ran, with the rows that it read and wrote so far. */
export interface RanStatement {
  text: string
  values: unknown[]
  cursor: { rowsRead: number; rowsWritten: number }
}

/** Records every statement of an object's database until `stop`, which returns them in their order. */
export function recordStatements(sql: SqlStorage): { stop: () => RanStatement[] } {
  const real = sql.exec.bind(sql)
  const ran: RanStatement[] = []
  Object.defineProperty(sql, 'exec', {
    configurable: true,
    value: (text: string, ...values: unknown[]) => {
      const cursor = real(text, ...values)
      ran.push({ text, values, cursor })
      return cursor
    },
  })
  return {
    stop: () => {
      Reflect.deleteProperty(sql, 'exec')
      return ran
    },
  }
}

/** The steps of a statement's plan, as SQLite names them. */
export function planOf(sql: SqlStorage, { text, values }: RanStatement): string[] {
  return sql
    .exec(`EXPLAIN QUERY PLAN ${text}`, ...values)
    .toArray()
    .map(({ detail }) => String(detail))
}
