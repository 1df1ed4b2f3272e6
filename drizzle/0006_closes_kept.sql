-- What was closed, by whom and why, is kept for good.
create trigger closes_immutable before update or delete or truncate on ledger.closes
  for each statement execute function ledger.refuse_change();
--> statement-breakpoint
create trigger close_balances_immutable before update or delete or truncate on ledger.close_balances
  for each statement execute function ledger.refuse_change();
