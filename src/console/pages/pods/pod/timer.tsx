import { type ReactNode, useState } from 'react'
import type { ApiBody } from '../../../../client/client.ts'
import { useAct } from '../../../app/act.ts'
import { useRefresh } from '../../../app/live.ts'
import { useApi } from '../../../app/session.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyAs } from '../../../parts/copy/copy-as.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { duration } from '../../../parts/format.ts'

interface TimerProps {
  podId: string
  label: string
  /** What the buttons set and clear. */
  noun: string
  /** How long it may be, in units of `unitMs`. */
  choices: readonly number[]
  initial: number
  unitMs: number
  isSet: boolean
  /** The change that sets it to so many milliseconds, or clears it. */
  change: (ms: number | null) => ApiBody<'updatePod'>
  said: { set: (ms: number) => string; cleared: string; unset: string }
  /** How it stands now. */
  children: ReactNode
}

/** Something that ends the pod after a time: to choose, to set and to clear. */
export function Timer({ podId, label, noun, choices, initial, unitMs, isSet, change, said, children }: TimerProps) {
  const { api, may } = useApi()
  const { isBusy, run } = useAct()
  const refresh = useRefresh()
  const [chosen, setChosen] = useState(String(initial))
  const ms = Number(chosen) * unitMs
  const noRight = may('pods:write') ? undefined : 'Your role may look at pods, not change them.'
  const send = async (body: ApiBody<'updatePod'>, done: string) => {
    await run(() => api.updatePod({ path: { id: podId }, body }), done)
    await refresh('pods')
  }
  return (
    <div className="flex flex-wrap items-end gap-3">
      <div className="w-36">
        <SelectField label={label} value={chosen} onChange={({ target }) => setChosen(target.value)}>
          {choices.map((one) => (
            <option key={one} value={one}>
              {duration(one * unitMs)}
            </option>
          ))}
        </SelectField>
      </div>
      <Button isBusy={isBusy} disabledReason={noRight} onClick={() => void send(change(ms), said.set(ms))}>
        Set {noun}
      </Button>
      <Button
        isBusy={isBusy}
        disabledReason={noRight ?? (isSet ? undefined : said.unset)}
        onClick={() => void send(change(null), said.cleared)}
      >
        Clear {noun}
      </Button>
      <div className="flex w-full items-center justify-between gap-3">
        <p className="text-soft text-xs">{children}</p>
        <CopyAs call={{ method: 'PATCH', path: `/v2/pods/${podId}`, body: change(ms) }} />
      </div>
    </div>
  )
}
