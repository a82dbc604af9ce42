import { describe, test } from 'vitest'
import { healthFieldsOf, parseXids } from '../../../../src/host-agent/gpus/nvidia/health.ts'
import { A, B, GEFORCE, H200, HELP_580, KERNEL_LOG, readHealth, V100S } from '../../support/nvidia-answers.ts'

describe('nvidia-smi', () => {
  test('[HOST-41] reads ECC errors, pending retirement and temperature', ({ expect }) => {
    const unknown = { remapPending: false, remapFailed: false, marginC: null, recovery: null }
    expect(readHealth(V100S)).toEqual([
      { index: 0, uuid: A, pciAddress: '0000:3b:00', uncorrectedErrors: 0, retirementPending: false, temperatureC: 41, ...unknown },
      { index: 1, uuid: B, pciAddress: '0000:af:00', uncorrectedErrors: 3, retirementPending: true, temperatureC: 97, ...unknown },
    ])
  })

  test('[HOST-41] asks a newer driver for remapped rows, the limit of the GPU and what it asks for', ({ expect }) => {
    expect(healthFieldsOf(HELP_580).slice(6)).toEqual([
      'remapped_rows.pending',
      'remapped_rows.failure',
      'temperature.gpu.tlimit',
      'gpu_recovery_action',
    ])
    expect(healthFieldsOf(HELP_580.replace('"gpu_recovery_action"', ''))).not.toContain('gpu_recovery_action')
    expect(healthFieldsOf('nvidia-smi: command not found')).toHaveLength(6)
    const healthy = { remapPending: false, remapFailed: false, temperatureC: 35, marginC: 52, recovery: null }
    expect(readHealth(H200, HELP_580)).toMatchObject([{ pciAddress: '0000:00:06', uncorrectedErrors: 0, ...healthy }])
    const ill = H200.replace('35, No, No, 52, None', '88, Yes, Yes, -1, Reset')
    expect(readHealth(ill, HELP_580)).toMatchObject([
      { remapPending: true, remapFailed: true, temperatureC: 88, marginC: -1, recovery: 'Reset' },
    ])
    expect(readHealth(H200.replace('52, None', '[N/A], [N/A]'), HELP_580)).toMatchObject([{ marginC: null, recovery: null }])
  })

  test('a GPU without ECC, and lines that are no GPU', ({ expect }) => {
    expect(readHealth(GEFORCE)).toMatchObject([{ uncorrectedErrors: null, retirementPending: false, temperatureC: 45 }])
    expect(readHealth('No devices were found\n')).toEqual([])
    expect(readHealth('Unable to determine the device handle for GPU0000:AF:00.0: Unknown Error\n')).toEqual([])
    expect(readHealth(`${GEFORCE}WARNING: infoROM is corrupted at gpu 0000:01:00.0\n`)).toHaveLength(1)
    expect(readHealth(`0, ${A}, 00000000:01:00.0, [Unknown Error], [Not Supported], [GPU requires reset]`)).toMatchObject([
      { uncorrectedErrors: null, retirementPending: false, temperatureC: null },
    ])
  })
})

describe('kernel log', () => {
  test('[HOST-41] names hardware errors once, and leaves out those of programs', ({ expect }) => {
    expect(parseXids(KERNEL_LOG)).toEqual([
      { pciAddress: '0000:af:00', problem: 'XID 79: GPU has fallen off the bus' },
      { pciAddress: '0000:3b:00', problem: 'XID 48: double-bit ECC error' },
    ])
    expect(parseXids('')).toEqual([])
  })
})
