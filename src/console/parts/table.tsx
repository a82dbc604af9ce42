import type { ReactNode } from 'react'
import type { Live } from '../hooks/live.ts'
import { Pages, type PagesProps } from './more.tsx'
import { Empty, type EmptyProps, ViewState } from './view-state.tsx'

/** A column of a table; numbers are aligned to the right. */
export interface Column<Row> {
  title: string
  /** Left out on narrow screens. */
  isMinor?: boolean
  isNumber?: boolean
  show: (row: Row) => ReactNode
}

interface TableProps<Row> {
  /** Name of the table for screen readers. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
}

/** Shows rows in a table that scrolls sideways on narrow screens. */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  const place = ({ isMinor, isNumber }: Column<Row>) =>
    `px-3 py-2 ${isMinor ? 'hidden md:table-cell' : ''} ${isNumber ? 'text-right tabular-nums' : 'text-left'}`
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className="border-line bg-panel relative overflow-x-auto rounded-lg border" aria-label={caption} tabIndex={0}>
      <table className="w-full border-collapse">
        <caption className="sr-only">{caption}</caption>
        <thead className="bg-raised text-soft text-xs">
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" className={`${place(column)} font-medium`}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className="border-line border-t align-middle">
              {columns.map((column) => (
                <td key={column.title} className={place(column)}>
                  {column.show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface LiveTableProps<Data, Row> extends Omit<TableProps<Row>, 'rows'> {
  of: Live<Data>
  rows: (data: Data) => readonly Row[]
  /** Content for a list without rows. */
  empty: EmptyProps
  /** Whether the list counts as one without rows; by default if there is none. */
  isEmpty?: (data: Data) => boolean
  /** Position in a list of several pages. */
  pages?: PagesProps
}

/** Table of a list that is read from the plane, in any of its states (UI-7). */
export function LiveTable<Data, Row>({ of, rows, empty, isEmpty, pages, ...table }: LiveTableProps<Data, Row>) {
  return (
    <ViewState of={of} empty={{ when: isEmpty ?? ((data) => rows(data).length === 0), show: <Empty {...empty} /> }}>
      {(data) => (
        <>
          <Table {...table} rows={rows(data)} />
          {pages && <Pages {...pages} />}
        </>
      )}
    </ViewState>
  )
}

/** List of names with values. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
