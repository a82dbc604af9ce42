/** The free capacity that decides which of several fitting hosts is preferred. */
interface Room {
  id: string
  /** Free GPUs of all types. */
  gpusFree: number
  vcpuFree: number
}

/** The free capacity of a host that decides whether it is preferred. */
export function roomOf({ id, gpus, vcpuFree }: { id: string; gpus: readonly { free: number }[]; vcpuFree: number }): Room {
  return { id, vcpuFree, gpusFree: gpus.reduce((sum, { free }) => sum + free, 0) }
}

/**
 * The order of the policy (PLACE-1): 'pack' prefers the fullest host, 'spread' the emptiest. GPUs count first, then vCPUs; the id makes the
 * order total. It depends on nothing of the workload, so that an index can hold it (adr/0074).
 */
export function compareRoom(strategy: 'pack' | 'spread', a: Room, b: Room): number {
  const order = a.gpusFree - b.gpusFree || a.vcpuFree - b.vcpuFree || (a.id < b.id ? -1 : 1)
  return strategy === 'pack' ? order : -order
}
