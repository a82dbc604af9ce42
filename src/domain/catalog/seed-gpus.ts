import type { GpuType } from './catalog.ts'

/** Upper bound of GPUs of one type in one pod; for a MIG slice it is 1 (SEED-1). */
const MAX_GPU_COUNT = 8

type Row = readonly [
  id: string,
  name: string,
  memoryGb: number,
  pool: string | null,
  secure: number | null,
  community: number | null,
  serverless: number | null,
]

const PRO_6000 = 'NVIDIA RTX PRO 6000 Blackwell'
const ROWS: readonly Row[] = [
  ['NVIDIA RTX A4000', 'RTX A4000', 16, 'AMPERE_16', 0.25, 0.17, 0.58],
  ['NVIDIA RTX A4500', 'RTX A4500', 20, 'AMPERE_16', 0.25, 0.19, 0.58],
  ['NVIDIA RTX 4000 Ada Generation', 'RTX 4000 Ada', 20, 'AMPERE_16', 0.26, 0.2, 0.58],
  ['NVIDIA RTX 2000 Ada Generation', 'RTX 2000 Ada', 16, 'AMPERE_16', 0.24, null, 0.58],
  ['NVIDIA RTX A5000', 'RTX A5000', 24, 'AMPERE_24', 0.27, 0.16, 0.69],
  ['NVIDIA L4', 'L4', 24, 'AMPERE_24', 0.44, 0.28, 0.69],
  ['NVIDIA GeForce RTX 3090', 'RTX 3090', 24, 'AMPERE_24', 0.46, 0.22, 0.69],
  ['NVIDIA GeForce RTX 4090', 'RTX 4090', 24, 'ADA_24', 0.69, 0.34, 1.1],
  ['NVIDIA GeForce RTX 5090', 'RTX 5090', 32, 'ADA_32_PRO', 0.9, 0.7, 1.6],
  ['NVIDIA A40', 'A40', 48, 'AMPERE_48', 0.44, 0.39, 1.2],
  ['NVIDIA RTX A6000', 'RTX A6000', 48, 'AMPERE_48', 0.5, 0.35, 1.2],
  ['NVIDIA L40', 'L40', 48, 'ADA_48_PRO', 0.95, 0.7, 1.9],
  ['NVIDIA L40S', 'L40S', 48, 'ADA_48_PRO', 0.8, 0.6, 1.9],
  ['NVIDIA RTX 6000 Ada Generation', 'RTX 6000 Ada', 48, 'ADA_48_PRO', 0.77, 0.74, 1.9],
  ['NVIDIA A100 80GB PCIe', 'A100 PCIe', 80, 'AMPERE_80', 1.39, 1.19, 2.7],
  ['NVIDIA A100-SXM4-80GB', 'A100 SXM', 80, 'AMPERE_80', 1.5, 1.4, 2.7],
  ['NVIDIA H100 PCIe', 'H100 PCIe', 80, 'ADA_80_PRO', 2.4, 2, 4.2],
  ['NVIDIA H100 80GB HBM3', 'H100 SXM', 80, 'ADA_80_PRO', 2.7, 2.7, 4.2],
  ['NVIDIA H100 NVL', 'H100 NVL', 94, 'ADA_80_PRO', 2.8, 2.6, 4.2],
  ['NVIDIA H200', 'H200 SXM', 141, 'HOPPER_141', 3.6, null, 5.6],
  ['NVIDIA H200 NVL', 'H200 NVL', 143, null, 3.4, null, null],
  ['NVIDIA B200', 'B200', 180, 'BLACKWELL_180', 6, null, 8.6],
  ['NVIDIA B300 SXM6 AC', 'B300', 288, null, 7.5, null, null],
  [`${PRO_6000} Server Edition`, 'RTX PRO 6000', 96, 'BLACKWELL_96', 1.79, null, 2.79],
  [`${PRO_6000} Workstation Edition`, 'RTX PRO 6000 WK', 96, 'BLACKWELL_96', 1.79, null, 2.79],
  [`${PRO_6000} Max-Q Workstation Edition`, 'RTX PRO 6000 MaxQ', 96, 'BLACKWELL_96', 1.79, null, 2.79],
  [`${PRO_6000} Server Edition MIG 1g.24gb`, 'PRO 6000 MIG 24GB', 24, null, 0.8, null, null],
  [`${PRO_6000} Server Edition MIG 2g.48gb`, 'PRO 6000 MIG 48GB', 48, null, 1, null, null],
  ['NVIDIA RTX PRO 4500 Blackwell', 'RTX PRO 4500', 32, null, 0.6, null, null],
  ['AMD Instinct MI300X OAM', 'MI300X', 192, null, 2.49, null, null],
  ['NVIDIA A30', 'A30', 24, null, null, null, null],
  ['NVIDIA GeForce RTX 3070', 'RTX 3070', 8, null, null, null, null],
  ['NVIDIA GeForce RTX 3080', 'RTX 3080', 10, null, null, null, null],
  ['NVIDIA GeForce RTX 3080 Ti', 'RTX 3080 Ti', 12, null, null, null, null],
  ['NVIDIA GeForce RTX 3090 Ti', 'RTX 3090 Ti', 24, null, null, null, null],
  ['NVIDIA GeForce RTX 4070 Ti', 'RTX 4070 Ti', 12, null, null, null, null],
  ['NVIDIA GeForce RTX 4080', 'RTX 4080', 16, null, null, null, null],
  ['NVIDIA GeForce RTX 4080 SUPER', 'RTX 4080 SUPER', 16, null, null, null, null],
  ['NVIDIA GeForce RTX 5080', 'RTX 5080', 16, null, null, null, null],
  ['NVIDIA RTX 4000 SFF Ada Generation', 'RTX 4000 SFF Ada', 20, null, null, null, null],
  ['NVIDIA RTX 5000 Ada Generation', 'RTX 5000 Ada', 32, null, null, null, null],
  ['NVIDIA RTX A2000', 'RTX A2000', 6, null, null, null, null],
  ['Tesla V100-PCIE-16GB', 'V100 PCIe 16GB', 16, null, null, null, null],
  ['Tesla V100-SXM2-16GB', 'V100 SXM2 16GB', 16, null, null, null, null],
  ['Tesla V100-SXM2-32GB', 'V100 SXM2 32GB', 32, null, null, null, null],
]

/** GPU types with the prices of the public list (SEED-1), and types without a price (SEED-2). */
export const SEED_GPU_TYPES: readonly GpuType[] = ROWS.map(([id, name, memoryGb, pool, securePrice, communityPrice, serverlessPrice]) => ({
  id,
  name,
  manufacturer: id.startsWith('AMD ') ? 'AMD' : 'NVIDIA',
  memoryGb,
  pool,
  securePrice,
  communityPrice,
  serverlessPrice,
  maxCount: id.includes(' MIG ') ? 1 : MAX_GPU_COUNT,
  offered: true,
}))
