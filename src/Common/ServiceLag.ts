/**
 * Parts of the service may show at different times what happened: its balances, statements and movements, each some seconds after
 * another. How long we take that for a reason, in seconds of the service's clock; what is older, or lies further ahead, should be
 * shown everywhere.
 */
export const mostLag = 60
