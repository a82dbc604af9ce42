import type { Command } from 'commander'
import { act, actLater, examples } from '../session/act.ts'

/** Adds the commands for ingress to a pod, under `pods` and at the top level. */
export function addIngress(parent: Command, prefix = ''): void {
  const exec = parent
    .command('exec <pod> [command...]')
    .description('run a command in a pod and exit with its exit code; without a command, open a shell')
    .option('-i, --stdin', 'pass stdin to the command')
    .option('-t, --tty', 'allocate a terminal')
  actLater(exec, async () => (await import('../ingress/exec.ts')).execInPod)
  examples(exec, `${prefix}exec <pod>`, `${prefix}exec <pod> -- nvidia-smi -L`, `${prefix}exec -i <pod> -- python - < script.py`)
  const ssh = parent
    .command('ssh <pod> [command...]')
    .description('open an SSH session in a pod with the ssh client of this machine; without one, open a shell through the plane')
  actLater(ssh, async () => (await import('../ingress/ssh.ts')).sshIntoPod)
  examples(ssh, `${prefix}ssh <pod>`, `${prefix}ssh <pod> -- uptime`)
  const cp = parent.command('cp <from> <to>').description('copy files and directories into a pod or out of it')
  actLater(cp, async () => (await import('../ingress/cp.ts')).copy)
  examples(cp, `${prefix}cp ./data <pod>:/workspace/`, `${prefix}cp <pod>:/workspace/model.bin .`)
  const forward = parent
    .command('port-forward <pod> <ports...>')
    .description('forward ports of this machine to ports of a pod, until Ctrl-C')
  actLater(forward, async () => (await import('../ingress/port-forward.ts')).forwardPorts)
  examples(forward, `${prefix}port-forward <pod> 8888`, `${prefix}port-forward <pod> 9000:8888 5432`)
}

/** Adds `open` under pods, endpoints and clusters: it opens the page of one in the console. */
export function addOpen(parent: Command, kind: 'pod' | 'endpoint' | 'cluster'): void {
  act(
    parent.command(`open <${kind}>`).description('print the address of the console page and open the page'),
    async (session, _options, id: string) => {
      const { CONSOLE_PAGES, openPage } = await import('../tools/open.ts')
      return openPage(session, CONSOLE_PAGES[kind](id))
    },
  )
}
