CREATE TABLE "export"."account_mappings" (
	"book_id" integer NOT NULL,
	"version" integer NOT NULL,
	"accounts" json NOT NULL,
	"imported_at" timestamptz DEFAULT now() NOT NULL,
	CONSTRAINT "account_mappings_book_id_version_pk" PRIMARY KEY("book_id","version")
);
--> statement-breakpoint
create trigger account_mappings_immutable before update or delete or truncate on export.account_mappings
  for each statement execute function ledger.refuse_change();
