import { Menu as Base } from '@base-ui/react/menu'
import type { ReactNode } from 'react'

/** An action of a menu; a dangerous action is marked in color. */
export interface MenuItem {
  label: string
  run: () => void
  /** Reason why the item is disabled. */
  disabledReason?: string | undefined
  isDanger?: boolean
}

/** Button that opens a menu of actions; a disabled item shows its reason. */
export function Menu({ label, name, items }: { label: ReactNode; name: string; items: readonly MenuItem[] }) {
  return (
    <Base.Root>
      <Base.Trigger
        aria-label={name}
        className="border-line bg-panel hover:bg-raised inline-flex min-h-8 min-w-0 items-center gap-1.5 rounded-md border px-3 py-1 font-medium whitespace-nowrap"
      >
        {label}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="end" className="z-50">
          <Base.Popup className="border-line bg-panel min-w-44 rounded-md border py-1 shadow-lg">
            {items.map(({ label: text, run, disabledReason, isDanger }) => (
              <Base.Item
                key={text}
                disabled={disabledReason !== undefined}
                onClick={run}
                className={`data-highlighted:bg-raised cursor-default px-3 py-1.5 data-disabled:opacity-60 ${isDanger ? 'text-bad' : ''}`}
              >
                {text}
                {disabledReason !== undefined && <span className="text-soft block text-xs">{disabledReason}</span>}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
