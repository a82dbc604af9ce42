import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface LinkProps {
  to: string
  children: ReactNode
  className?: string
  tabIndex?: number
  'aria-label'?: string
  'aria-current'?: 'page' | undefined
}

/** Link within the console; `to` is built by `paths`, with a query where it selects a view. */
export function A({ to, children, className = 'text-accent underline underline-offset-2 hover:no-underline', ...rest }: LinkProps) {
  const [path = '', query = ''] = to.split('?')
  // `paths` builds all addresses, so the typed routes of the router add nothing; its types require a literal.
  const target = { to: path, search: Object.fromEntries(new URLSearchParams(query)) } as { to: '/' }
  return (
    <Link {...target} className={className} {...rest}>
      {children}
    </Link>
  )
}
