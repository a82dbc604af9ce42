import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { healthFieldsOf, parseHealthQuery } from '../../../src/host-agent/gpus/nvidia/health.ts'

export const A = 'GPU-8a2c5e1f-3f0b-6d4e-9a71-2b8d1c9e7f10'
export const B = 'GPU-1b7d0a52-c8de-11ee-8f3a-0242ac120002'
export const V100S = `0, ${A}, 00000000:3B:00.0, 0, No, 41\n1, ${B}, 00000000:AF:00.0, 3, Yes, 97\n`
export const GEFORCE = `0, ${A}, 00000000:01:00.0, [N/A], [N/A], 45\n`
/** The fields of driver 580.159.04, and its answer for an H200 to a query of `healthFieldsOf`. */
export const HELP_580 = readFileSync(join(import.meta.dirname, '../gpus/nvidia/recorded/help-query-gpu-580.txt'), 'utf8')
export const H200 = '0, GPU-f5cb92b2-142c-4206-50c9-a7de2a2b9df0, 00000000:00:06.0, 0, [N/A], 35, No, No, 52, None\n'
export const KERNEL_LOG = `
[    4.102030] nvidia: loading out-of-tree module taints kernel.
[  911.502361] NVRM: Xid (PCI:0000:3b:00): 31, pid=41232, name=python3, Ch 00000010, intr 00000000. MMU Fault
[ 2412.118403] NVRM: Xid (PCI:0000:af:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
[ 2412.118409] NVRM: Xid (PCI:0000:af:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
Nov 20 10:11:12 gpu-07 kernel: NVRM: Xid (PCI:0000:3b:00.0): 48, pid=77, name=train, DBE (double bit error) detected
`

export const readHealth = (csv: string, help = '') => parseHealthQuery(csv, healthFieldsOf(help))
