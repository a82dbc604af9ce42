import { workerRates } from '../billing/worker-rates.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { totalNanos } from '../money.ts'
import { type PlacedConfig, placementRequestOf } from '../worker/shape.ts'
import { usdText } from './effect.ts'

/** Price range of a worker per hour, in nano-USD, on the cheapest and on the dearest compute that it may run on. */
export interface PriceRange {
  low: number
  high: number
}

/** Price range of an endpoint's workers; null where none of its compute is offered. */
export function workerPriceRange(catalog: Catalog, config: PlacedConfig): PriceRange | null {
  const { shapes, diskGb } = placementRequestOf(catalog, config)
  const nanos = shapes.map((shape) => totalNanos(workerRates(catalog, shape, diskGb)))
  return nanos.length === 0 ? null : { low: Math.min(...nanos), high: Math.max(...nanos) }
}

/** Price range in USD, as plans write it. */
export function rangeText({ low, high }: PriceRange): string {
  return low === high ? usdText(low) : `${usdText(low)} to ${usdText(high)}`
}
