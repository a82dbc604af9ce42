import { cpus, freemem, totalmem } from 'node:os'

/** Makes a reader of this machine's load; CPU is measured between two readings. */
export function createUtilisationReader(): () => { cpuPercent: number; memoryPercent: number } {
  let former = cpuTimes()
  return () => {
    const current = cpuTimes()
    const total = current.total - former.total
    const cpuPercent = total > 0 ? (100 * (current.busy - former.busy)) / total : 0
    former = current
    return { cpuPercent: round(cpuPercent), memoryPercent: round(100 * (1 - freemem() / totalmem())) }
  }
}

function cpuTimes(): { busy: number; total: number } {
  const times = cpus().map((cpu) => cpu.times)
  const total = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0)
  return { total, busy: total - times.reduce((sum, { idle }) => sum + idle, 0) }
}

function round(percent: number): number {
  return Math.round(percent * 10) / 10
}
