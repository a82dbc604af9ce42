import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'
import { useUrlState } from '../hooks/url-state.ts'

/** A tab of a page; its content is rendered when the tab is chosen. */
export interface Tab {
  /** Value in the address. */
  id: string
  title: string
  show: () => ReactNode
}

/** Tabs; the open one is stored in the address. */
export function Tabs({ name, tabs }: { name: string; tabs: readonly Tab[] }) {
  const [open, setOpen] = useUrlState('tab', tabs[0]?.id ?? '')
  return (
    <Base.Root value={open} onValueChange={(value) => setOpen(String(value))} className="flex min-w-0 flex-col gap-4">
      <Base.List aria-label={name} className="border-line flex gap-1 overflow-x-auto border-b">
        {tabs.map(({ id, title }) => (
          <Base.Tab
            key={id}
            value={id}
            className="data-active:border-accent data-active:text-ink text-soft hover:text-ink border-b-2 border-transparent px-3 py-2 font-medium whitespace-nowrap"
          >
            {title}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ id, show }) => (
        <Base.Panel key={id} value={id} className="min-w-0 outline-none">
          {id === open && show()}
        </Base.Panel>
      ))}
    </Base.Root>
  )
}
