import { describe, expect, test } from 'vitest'
import { type DesiredContainer, desiredContainers, generationOf, type PodOnHost, workloadIdOf } from '../../../src/domain/pod/workloads.ts'

const pod = (change: Partial<PodOnHost> = {}): PodOnHost => ({
  status: 'RUNNING',
  generation: 3,
  keepsDisk: false,
  hostLost: false,
  readyGeneration: null,
  ...change,
})
const container = (generation: number, desired: DesiredContainer['desired'], change: Partial<DesiredContainer> = {}): DesiredContainer => ({
  generation,
  desired,
  replaces: [],
  keepDisk: false,
  wipe: false,
  prepare: false,
  ...change,
})

describe('the desired state of the containers of a pod', () => {
  test.each(['PROVISIONING', 'STARTING', 'RUNNING'] as const)('[POD-2] %s: its present container is to run', (status) => {
    expect(desiredContainers(pod({ status, generation: 1 }), [])).toEqual([container(1, 'running')])
    expect(desiredContainers(pod({ status, generation: 1 }), [1])).toEqual([container(1, 'running')])
  })

  test.each(['EXITED', 'ERROR'] as const)(
    '[POD-14] %s: its container is stopped and kept; one that was never to run is not listed',
    (status) => {
      expect(desiredContainers(pod({ status }), [3])).toEqual([container(3, 'held')])
      expect(desiredContainers(pod({ status }), [])).toEqual([])
    },
  )

  test('[POD-23] a pod whose host is silent continues there', () => {
    expect(desiredContainers(pod({ status: 'ERROR', hostLost: true }), [3])).toEqual([container(3, 'running')])
  })

  test('[POD-14, P7] a start continues with the disk of the newest previous container that has one; all must be down first', () => {
    expect(desiredContainers(pod({ status: 'STARTING', keepsDisk: true }), [1, 2])).toEqual([
      container(2, 'held'),
      container(1, 'held'),
      container(3, 'running', { replaces: [2, 1], keepDisk: true }),
    ])
    // Stopped again before it ran: the disk that it would have used is still kept.
    expect(desiredContainers(pod({ status: 'EXITED', keepsDisk: true }), [2, 3])).toEqual([
      container(2, 'held'),
      container(3, 'held', { replaces: [2], keepDisk: true }),
    ])
    expect(desiredContainers(pod({ status: 'EXITED', keepsDisk: true }), [2])).toEqual([container(2, 'held')])
  })

  test('[POD-14, P7] a restart removes the previous ones and waits until they are down', () => {
    expect(desiredContainers(pod({ status: 'STARTING' }), [3, 1, 2])).toEqual([
      container(2, 'stopped'),
      container(1, 'stopped'),
      container(3, 'running', { replaces: [2, 1] }),
    ])
  })

  test('there is no disk to continue with where no previous container is known', () => {
    expect(desiredContainers(pod({ status: 'STARTING', keepsDisk: true }), [])).toEqual([container(3, 'running')])
  })

  test.each([pod({ status: 'TERMINATED' }), null])(
    '[POD-18] of a pod that is terminated or moved away nothing stays, its volume is removed too',
    (gone) => {
      expect(desiredContainers(gone, [2, 3])).toEqual([container(2, 'stopped', { wipe: true }), container(3, 'stopped', { wipe: true })])
      expect(desiredContainers(gone, [])).toEqual([])
    },
  )
})

describe('ids of containers', () => {
  test.each([1, 2, 10, 999_999_999])('%i there and back', (generation) => {
    expect(generationOf('p1', workloadIdOf('p1', generation))).toBe(generation)
  })

  test.each(['p1', 'p1-', 'p1-0', 'p1-01', 'p1--1', 'p1-1x', 'p1-1.5', 'p1-1e3', 'p1-1000000000', 'p11-1', 'p-1', 'x-1', '', 'p1- 1'])(
    'of p1, %j is no id',
    (id) => {
      expect(generationOf('p1', id)).toBeNull()
    },
  )
})
