import type { Catalog, CpuFlavor } from './catalog.ts'
import { SEED_DATA_CENTERS } from './data-centers.ts'
import { SEED_GPU_TYPES } from './seed-gpus.ts'
import { SEED_STORAGE } from './storage.ts'

const SEED_CPU_FLAVORS: readonly CpuFlavor[] = [
  cpuFlavor('cpu3c', 'Compute-Optimized', 'Gen 3', 2, 0.03, 0.02),
  cpuFlavor('cpu5c', 'Compute-Optimized', 'Gen 5', 2, 0.05, 0.04),
  cpuFlavor('cpu3g', 'General Purpose', 'Gen 3', 4, 0.04, 0.03),
  cpuFlavor('cpu5g', 'General Purpose', 'Gen 5', 4, 0.05, 0.04),
  cpuFlavor('cpu3m', 'Memory-Optimized', 'Gen 3', 8, 0.05, 0.04),
  cpuFlavor('cpu5m', 'Memory-Optimized', 'Gen 5', 8, 0.06, 0.04),
]

/** The catalog of a plane whose operator has changed nothing (SEED-1 to SEED-6). */
export const SEED_CATALOG: Catalog = {
  gpuTypes: SEED_GPU_TYPES,
  cpuFlavors: SEED_CPU_FLAVORS,
  dataCenters: SEED_DATA_CENTERS,
  storage: SEED_STORAGE,
}

function cpuFlavor(id: string, name: string, group: string, ramGbPerVcpu: number, secure: number, serverless: number): CpuFlavor {
  const price = { securePricePerVcpu: secure, serverlessPricePerVcpu: serverless }
  return { id, name, group, minVcpu: 2, maxVcpu: 32, ramGbPerVcpu, ...price, offered: true }
}
