CREATE SCHEMA "webhook";
--> statement-breakpoint
CREATE TABLE "webhook"."inbox" (
	"connection" text NOT NULL,
	"event_id" text NOT NULL,
	"digest" "bytea" NOT NULL,
	"received_at" timestamptz DEFAULT now() NOT NULL,
	"type" text,
	"body" "bytea" NOT NULL,
	"key_id" text NOT NULL,
	"algorithm" text NOT NULL,
	"state" text NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"next_try_at" timestamptz DEFAULT now() NOT NULL,
	"error" text,
	"conflict" boolean DEFAULT false NOT NULL,
	"processed_at" timestamptz,
	CONSTRAINT "inbox_connection_event_id_digest_pk" PRIMARY KEY("connection","event_id","digest"),
	CONSTRAINT "inbox_state" CHECK ("webhook"."inbox"."state" in ('waiting', 'done', 'failed', 'dead', 'poison'))
);
--> statement-breakpoint
CREATE INDEX "inbox_waiting" ON "webhook"."inbox" USING btree ("connection","next_try_at") WHERE "webhook"."inbox"."state" in ('waiting', 'failed');--> statement-breakpoint
CREATE INDEX "inbox_troubled" ON "webhook"."inbox" USING btree ("connection","received_at") WHERE "webhook"."inbox"."state" in ('dead', 'poison') or "webhook"."inbox"."conflict";--> statement-breakpoint
CREATE INDEX "inbox_received" ON "webhook"."inbox" USING brin ("received_at");