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

/** A link within the console; `to` comes from `paths`, with a query where a view is meant. */
export function A({ to, children, className = 'text-accent underline underline-offset-2 hover:no-underline', ...rest }: LinkProps) {
  const [path = '', query = ''] = to.split('?')
  // Addresses are made by `paths`, so the router's own table of them adds nothing; its types ask for a literal.
  const target = { to: path, search: Object.fromEntries(new URLSearchParams(query)) } as { to: '/' }
  return (
    <Link {...target} className={className} {...rest}>
      {children}
    </Link>
  )
}
