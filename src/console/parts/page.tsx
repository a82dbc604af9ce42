import { type ReactNode, useEffect, useRef } from 'react'

interface PageProps {
  title: string
  /** Text before the title in the browser tab, such as the state of the shown resource. */
  mark?: string
  actions?: ReactNode
  children: ReactNode
}

/** Frame of a page. On a page change it sets the tab title and moves the focus to its heading. */
export function Page({ title, mark, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${mark === undefined ? '' : `${mark} · `}${title} · podplane`
  }, [title, mark])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another title is another page.
  useEffect(() => heading.current?.focus({ preventScroll: true }), [title])
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-5">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h1 ref={heading} tabIndex={-1} className="text-xl font-semibold outline-none">
          {title}
        </h1>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </div>
  )
}

/** Part of a page with a heading. */
export function Panel({ title, actions, children }: { title?: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className="border-line bg-panel min-w-0 rounded-lg border p-4">
      {title && (
        <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
          <h2 className="font-semibold">{title}</h2>
          {actions}
        </div>
      )}
      {children}
    </section>
  )
}
