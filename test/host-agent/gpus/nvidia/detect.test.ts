import { delimiter } from 'node:path'
import { afterEach, describe, test, vi } from 'vitest'
import { groupGpus } from '../../../../src/host-agent/gpus/device.ts'
import { detectNvidia, parseCudaVersion, parseGpuQuery } from '../../../../src/host-agent/gpus/nvidia/detect.ts'
import { installProgram } from '../../support/fake-program.ts'
import { tempDir } from '../../support/temp-dir.ts'

const H200 = 'NVIDIA H200, 143771, 570.124.06, GPU-8a2c5e1f-3f0b-6d4e-9a71-2b8d1c9e7f10\n'
const H200_BANNER = `
Fri Nov 20 10:11:12 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.124.06             Driver Version: 570.124.06     CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
`
const MIXED = [
  'NVIDIA GeForce RTX 4090, 24564, 550.90.07, GPU-aaaaaaaa-0000-0000-0000-000000000001',
  'NVIDIA GeForce RTX 4090, 24564, 550.90.07, GPU-aaaaaaaa-0000-0000-0000-000000000002',
  'NVIDIA L4, 23034, 550.90.07, GPU-bbbbbbbb-0000-0000-0000-000000000001',
].join('\n')

describe('nvidia-smi', () => {
  test('one H200', ({ expect }) => {
    expect(groupGpus(parseGpuQuery(H200, parseCudaVersion(H200_BANNER)))).toEqual([
      { typeId: 'NVIDIA H200', count: 1, memoryMb: 143_771, driverVersion: '570.124.06', cudaVersion: '12.8', simulated: false },
    ])
  })

  test('equal GPUs are counted together', ({ expect }) => {
    const groups = groupGpus(parseGpuQuery(MIXED, null))
    expect(groups.map(({ typeId, count }) => [typeId, count])).toEqual([
      ['NVIDIA GeForce RTX 4090', 2],
      ['NVIDIA L4', 1],
    ])
  })

  test('unified memory reads as 0, warnings and empty lines as nothing', ({ expect }) => {
    expect(parseGpuQuery('NVIDIA GB10, [N/A], 580.95.05, GPU-cccc\n\nWARNING: infoROM is corrupted at gpu 0000:01:00.0\n', null)).toEqual([
      { typeId: 'NVIDIA GB10', memoryMb: 0, driverVersion: '580.95.05', cudaVersion: null, uuid: 'GPU-cccc' },
    ])
    expect(parseGpuQuery('No devices were found\n', null)).toEqual([])
    expect(parseCudaVersion('CUDA Version: N/A')).toBeNull()
    expect(parseCudaVersion('| NVIDIA-SMI 580.95 | CUDA UMD Version: 13.0 |')).toBe('13.0')
  })
})

describe('detection', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  async function detect(script: string | undefined) {
    const dir = tempDir('nvidia-smi')
    if (script !== undefined) installProgram(dir, 'nvidia-smi', script)
    vi.stubEnv('PATH', script === undefined ? dir : `${dir}${delimiter}${process.env.PATH}`)
    const problems: string[] = []
    return { devices: await detectNvidia((text) => problems.push(text)), problems }
  }

  test('reads devices and the CUDA version of the driver', async ({ expect }) => {
    const { devices, problems } = await detect(`case "$1" in --query-gpu=*) echo '${H200.trim()}' ;; *) echo 'CUDA Version: 12.8' ;; esac`)
    expect([devices.map(({ typeId, cudaVersion }) => [typeId, cudaVersion]), problems]).toEqual([[['NVIDIA H200', '12.8']], []])
  })

  test('finds nothing where the driver fails, and says why; a machine without nvidia-smi has no problem', async ({ expect }) => {
    expect(await detect('echo "no driver" >&2; exit 9')).toEqual({
      devices: [],
      problems: [expect.stringMatching(/^Command failed: nvidia-smi --query-gpu=name,.*no driver/s)],
    })
    expect(await detect(`case "$1" in --query-gpu=*) echo '${H200.trim()}' ;; *) exit 1 ;; esac`)).toEqual({
      devices: [],
      problems: [expect.stringContaining('Command failed: nvidia-smi')],
    })
    expect(await detect(undefined)).toEqual({ devices: [], problems: [] })
  })
})
