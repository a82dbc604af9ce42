import { useEffect, useRef } from 'react'
import Uplot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { Table } from '../table.tsx'
import { type ChartData, figure, summaryOf } from './figures.ts'

/** Distinguishable on a light and on a dark background, and by their order in the legend. */
const COLORS = ['#6366f1', '#d97706', '#16a34a', '#dc2626', '#0891b2', '#9333ea', '#65a30d', '#db2777']
const GRAY = '#8b90a0'
const HEIGHT = 160
/** Axis steps for counts, which have no fractions. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000]
/** Maximum number of rows in the table of a chart. */
const MOST_ROWS = 60

/** A metric over time as a chart, a sentence and a table. */
export default function Chart({ data }: { data: ChartData }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const chart = new Uplot(
      optionsOf(data, element.clientWidth),
      [[...data.times], ...data.lines.map(({ points }) => [...points])],
      element,
    )
    const watcher = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }))
    watcher.observe(element)
    return () => {
      watcher.disconnect()
      chart.destroy()
    }
  }, [data])
  return (
    <figure className="flex min-w-0 flex-col gap-2">
      <div ref={box} aria-hidden="true" className="min-w-0 overflow-hidden" />
      <figcaption className="text-soft text-xs">{summaryOf(data)}.</figcaption>
      <details>
        <summary className="text-soft cursor-pointer text-xs">Show as table</summary>
        <Figures data={data} />
      </details>
    </figure>
  )
}

function Figures({ data: { title, unit, times, lines } }: { data: ChartData }) {
  const rows = times.map((time, index) => ({ time, index })).slice(-MOST_ROWS)
  return (
    <Table
      caption={`${title}, newest last`}
      rows={rows}
      keyOf={({ index }) => String(index)}
      columns={[
        { title: 'Time', show: ({ time }) => new Date(time * 1_000).toLocaleTimeString() },
        ...lines.map((line) => ({
          title: line.title,
          isNumber: true,
          show: ({ index }: { index: number }) => figure(line.points[index], unit),
        })),
      ]}
    />
  )
}

function optionsOf({ unit, lines }: ChartData, width: number): Uplot.Options {
  const axis = { stroke: GRAY, grid: { stroke: `${GRAY}33`, width: 1 }, ticks: { stroke: `${GRAY}33`, width: 1 } }
  return {
    width,
    height: HEIGHT,
    cursor: { show: false },
    legend: { show: false },
    scales: { y: { range: (_, __, most) => [0, unit === 'percent' ? 100 : Math.max(most, 1) * 1.05] } },
    axes: [
      axis,
      { ...axis, ...(unit === 'count' && { incrs: WHOLE }), size: 70, values: (_, values) => values.map((value) => figure(value, unit)) },
    ],
    series: [{}, ...lines.map((_, index) => ({ stroke: COLORS[index % COLORS.length] ?? GRAY, width: 1.5 }))],
  }
}
